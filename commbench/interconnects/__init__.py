"""The same sweep over several interconnects: fresh processes, interleaved, each path proved, then compared."""
