from .work import node_work as node_work
