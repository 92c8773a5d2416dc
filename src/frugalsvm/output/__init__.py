"""What is handed on: portable models, reports and plots."""
