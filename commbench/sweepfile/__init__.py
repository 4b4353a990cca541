"""The sweep file: what all measurements go into, and all that model, training, judging and plots read."""
