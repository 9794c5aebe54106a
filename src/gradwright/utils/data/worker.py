"""Workers of a DataLoader, processes or threads: they fetch batches side by side, and give them back in order."""

from __future__ import annotations

import os
import queue
import random as python_random
import signal
import threading
import time
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from types import TracebackType
from typing import Any

import numpy as np

from gradwright.face import random

_PATIENCE = 1.0
"""Seconds that a worker has to end by itself."""
_BATCH, _END, _ERROR = range(3)
END = object()
"""The result of a fetching function when there is nothing more."""


@dataclass
class WorkerInfo:
    """What `get_worker_info` tells a worker.

    Attributes:
        id: its number, from 0.
        num_workers: how many there are.
        seed: what its random numbers start from: the loader's seed plus ``id``.
        dataset: its copy of the dataset.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


class _Here(threading.local):
    info: WorkerInfo | None = None


_here = _Here()


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a `DataLoader`, which one it is: its ``id``, ``num_workers``, ``seed`` and ``dataset``; else None.

    An `IterableDataset` shares out its samples by it: ``itertools.islice(everything, info.id, None,
    info.num_workers)``.

    >>> gw.utils.data.get_worker_info() is None
    True
    """
    return _here.info


@dataclass
class Job:
    """The loop of a worker: ``fetcher(dataset)`` makes the function that fetches one batch."""

    dataset: Any
    fetcher: Callable[[Any], Callable[[Any], Any]]
    init: Callable[[int], object] | None
    id: int
    num_workers: int
    seeded_once: bool


class _Caught:
    """A context manager that keeps what its block raises, and how a traceback tells it."""

    kind: type[BaseException] | None = None
    text = ""

    def __enter__(self) -> _Caught:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        if error is not None:
            self.kind, self.text = kind, "".join(traceback.format_exception(error))
        return True


def _seed(seed: int, of_numpy: Any = None) -> None:
    """Start all random numbers of a process anew."""
    random.manual_seed(seed)
    python_random.seed(seed)
    np.random.seed(seed % 2**32 if of_numpy is None else of_numpy)  # noqa: NPY002 - for datasets that draw from it


def _words(base: int, worker: int) -> Any:
    """The words by which PyTorch seeds NumPy in a worker."""
    return np.random.SeedSequence([worker, base % 2**32, base >> 32, 0]).generate_state(4)


def _serve(job: Job, receive: Callable[[], Any], send: Callable[[Any], None], seed: Callable[..., None]) -> None:
    """Answer requests, each an epoch, its seed, a batch's number and indices, until None comes."""
    fetch: Any = None
    current = None
    while (request := receive()) is not None:
        epoch, base, number, index = request
        with _Caught() as caught:
            if current is None:
                _here.info = WorkerInfo(job.id, job.num_workers, base + job.id, job.dataset)
                seed(base + job.id, _words(base, job.id))
                if job.init is not None:
                    job.init(job.id)
            if epoch != current:
                fetch, current = job.fetcher(job.dataset), epoch
            if not job.seeded_once:
                seed(base + number)
            batch = fetch(index)
        if caught.kind is not None:
            kind = caught.kind if issubclass(caught.kind, Exception) else RuntimeError  # an exit is not for here
            send((_ERROR, (kind, caught.kind.__name__, caught.text)))
        else:
            send((_END, None) if batch is END else (_BATCH, batch))


# -- processes --


def _run_process(job: Job, connection: Any, other_end: Any) -> None:
    other_end.close()  # lest this process keep the pipe open from itself
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main process's to act on
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def take_in() -> None:  # at once: else both sides could wait for the other to read, their pipes full
        with suppress(EOFError, OSError):
            while True:
                requests.put(connection.recv())
        requests.put(None)

    def give(answer: Any) -> None:
        with _Caught() as caught:
            content = ForkingPickler.dumps(answer)
        if caught.kind is not None:  # a batch, or the class of an exception, that cannot be sent
            told = answer[1][1:] if answer[0] == _ERROR else (caught.kind.__name__, caught.text)
            content = ForkingPickler.dumps((_ERROR, (RuntimeError, *told)))
        connection.send_bytes(content)

    threading.Thread(target=take_in, daemon=True).start()
    with suppress(BrokenPipeError, ConnectionResetError):  # nobody is there any more
        _serve(job, requests.get, give, _seed)


class ProcessWorker:
    """A process that serves one job."""

    def __init__(self, context: Any, job: Job) -> None:
        self.name = f"process {job.id}"
        self.owed = 0
        self._connection, other_end = context.Pipe()
        self._process = context.Process(target=_run_process, args=(job, other_end, self._connection), daemon=True)
        self._process.start()
        other_end.close()

    def send(self, request: Any) -> None:
        try:
            self._connection.send(request)
        except (BrokenPipeError, ConnectionResetError):
            raise self._death() from None

    def receive(self, timeout: float | None) -> Any:
        """The answer to its oldest request."""
        ready = wait([self._connection, self._process.sentinel], timeout)
        if not ready:
            raise TimeoutError
        if self._connection not in ready:
            raise self._death()
        try:
            return self._connection.recv()
        except (EOFError, ConnectionResetError):
            raise self._death() from None

    def _death(self) -> RuntimeError:
        self._process.join(_PATIENCE)
        code = self._process.exitcode
        how = f"was killed by signal {signal.Signals(-code).name}" if code and code < 0 else f"ended with code {code}"
        return RuntimeError(
            f"DataLoader worker (pid(s) {self._process.pid}) exited unexpectedly: it {how} while batches were expected "
            "from it. Look for an exit or a crash in the dataset, or for want of memory; num_workers=0 shows it in "
            "this process. A program whose workers are spawned needs `if __name__ == '__main__':` around what it does."
        )

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def dismiss(self) -> None:
        self._connection.close()

    def wait(self, seconds: float) -> None:
        self._process.join(seconds)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


# -- threads --


class ThreadWorker:
    """A thread that serves one job."""

    is_alive = True

    def __init__(self, job: Job) -> None:
        self.name = f"thread {job.id}"
        self.owed = 0
        self._dismissed = False
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        arguments = (job, self._next, self._answers.put, lambda *_: None)  # the random numbers belong to all threads
        self._thread = threading.Thread(target=_serve, args=arguments, daemon=True)
        self._thread.start()

    def _next(self) -> Any:
        request = self._requests.get()
        return None if self._dismissed else request

    def send(self, request: Any) -> None:
        self._requests.put(request)

    def receive(self, timeout: float | None) -> Any:
        """The answer to its oldest request."""
        try:
            return self._answers.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None

    def dismiss(self) -> None:
        self._dismissed = True
        self._requests.put(None)

    def wait(self, seconds: float) -> None:
        self._thread.join()


# -- a team of them --


def _dismiss(workers: list[Any], owner: int) -> None:
    """End the workers, those still busy by force; in a process forked from their owner's, do nothing."""
    if os.getpid() != owner:
        return
    for worker in workers:
        worker.dismiss()
    deadline = time.monotonic() + _PATIENCE
    for worker in workers:
        worker.wait(max(0.0, deadline - time.monotonic()))


class Team:
    """Workers that fetch the batches of a loader, epoch after epoch, until ``close()``."""

    def __init__(self, workers: list[Any], timeout: float, prefetch: int, seed: int) -> None:
        self.seed = seed
        self._workers = workers
        self._timeout = timeout
        self._ahead = max(1, prefetch * len(workers))
        self._epoch = 0
        self.close = weakref.finalize(self, _dismiss, workers, os.getpid())

    @property
    def is_whole(self) -> bool:
        """Whether all workers live."""
        return all(worker.is_alive for worker in self._workers)

    def batches(self, indices: Iterable[Any], seed: int) -> Iterator[Any]:
        """The batches of these indices, in order; those of a dataset without indices from each worker in turn."""
        self._epoch += 1
        for worker in self._workers:
            while worker.owed:  # what an epoch left early had asked for
                self._answer(worker)
        todo = enumerate(indices)
        turn, asked = deque(self._workers), deque[Any]()

        def ask(count: int) -> None:
            for number, index in islice(todo, count if turn else 0):
                worker = turn[0]
                turn.rotate(-1)
                worker.send((self._epoch, seed, number, index))
                worker.owed += 1
                asked.append(worker)

        ask(self._ahead)
        while asked:
            worker = asked.popleft()
            what, answer = self._answer(worker)
            if what == _ERROR:
                raise _remade(worker.name, *answer)
            if what == _END and worker in turn:
                turn.remove(worker)
            ask(1)
            if what == _BATCH:
                yield answer

    def _answer(self, worker: Any) -> Any:
        try:
            answer = worker.receive(self._timeout or None)
        except TimeoutError:
            message = f"DataLoader timed out after {self._timeout} seconds, waiting for worker {worker.name}"
            raise RuntimeError(message) from None
        worker.owed -= 1
        return answer


class _Plain(str):
    """A text that is its own repr: KeyError prints the repr of its message."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _remade(where: str, kind: type[Exception], name: str, text: str) -> Exception:
    """An exception of the kind that a worker raised, with its traceback as message."""
    message = _Plain(f"Caught {name} in DataLoader worker {where}.\nOriginal {text}")
    try:
        return kind(message)
    except TypeError:
        return RuntimeError(message)
