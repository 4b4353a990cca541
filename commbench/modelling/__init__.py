"""Models of communication: fits, prediction, and what links can carry. Reads only sweep files and data."""
