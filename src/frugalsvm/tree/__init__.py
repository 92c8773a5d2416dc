"""Exact methods: branch and bound, and the certificates it leaves behind."""
