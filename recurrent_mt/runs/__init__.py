"""Runs: what a file of configs/experiments stands for, its way through the workflow, and the folder that it leaves."""
