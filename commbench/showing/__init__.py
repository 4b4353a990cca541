"""What a sweep looks like to a person or a script: rows, tables, formats, and a judgement of the result itself."""
