"""A cluster of network namespaces on this machine, with links of known rate. See cluster.py."""

from .cluster import EmulatedCluster, NodeResult
from .namespaces import unavailable

__all__ = ["EmulatedCluster", "NodeResult", "unavailable"]
