"""Readers turn files of profilers (Nsight Systems and Compute, torch) into typed rows and run nothing."""
