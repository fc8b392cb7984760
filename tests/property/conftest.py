"""Fewer examples than hypothesis would take: these tests run on every change, on small machines."""

from hypothesis import settings

settings.register_profile("repository", max_examples=40, deadline=None)
settings.load_profile("repository")
