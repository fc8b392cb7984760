import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the scenarios import `helpers` and `impl` by these names

import impl


def pytest_collection_modifyitems(items):
    # Scenarios of graphs that are allowed and odd: evonb warns of them, and they are expected to run. Only these:
    # other tests of the same process go on taking warnings as errors.
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("default::evonb.graph.GraphWarning"))


@pytest.fixture(autouse=True)
def isolated(tmp_path, monkeypatch):
    """Each test runs in its own folder and leaves no streaming handler behind."""
    monkeypatch.chdir(tmp_path)
    yield
    impl.graph.set_streaming_handler(lambda message: None)


@pytest.fixture
def streamed():
    """The list of everything the streaming handler receives."""
    received = []
    impl.graph.set_streaming_handler(received.append)
    return received
