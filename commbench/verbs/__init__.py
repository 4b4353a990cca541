"""The verbs of the `commbench` command that read files: thin mains that parse options, call the stages and print."""
