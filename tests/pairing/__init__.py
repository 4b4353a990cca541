"""Tests of pairs: who meets whom, the file, the run and the verb."""
