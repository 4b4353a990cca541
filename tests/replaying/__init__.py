"""Replays: the calls of a schedule issued in order."""
