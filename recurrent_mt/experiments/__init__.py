"""Experiments: what a file of configs/experiments stands for, and its run through the workflow."""
