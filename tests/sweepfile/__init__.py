"""Tests of the sweep file: records, reader, writer, resume, derived numbers."""
