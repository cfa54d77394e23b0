"""Both kernels: what is measured must not depend on which of them ranks."""

import pytest

from judgewell.evaluation.compiled import extension

KERNELS = [
    pytest.param("compiled", marks=pytest.mark.skipif(extension() is None, reason="the C extension is not built")),
    "numpy",
]


@pytest.fixture(params=KERNELS)
def kernel(request, monkeypatch):
    """The kernel in use; a test that asks for it runs once with each."""
    monkeypatch.setenv("JUDGEWELL_KERNEL", request.param)
    return request.param
