"""Property tests of scaling are judged by their results, not by how long an example takes on a busy machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("scaling", deadline=None, max_examples=40)
settings.load_profile("scaling")
