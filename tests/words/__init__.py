"""Tests of the words everything shares: units, collectives, intervals."""
