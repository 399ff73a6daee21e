"""Stands for Grove: makes pods and their status of PodCliqueSets, and refuses what Grove refuses."""
