"""Output: portable models, reports and plots."""
