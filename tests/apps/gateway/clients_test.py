#!/usr/bin/env python3
"""clients_test.py GATEWAY FOLDER [NPM]: real clients against the program, on every driver of the system.

curl and Python's own client always; OpenAI's package where NPM, npm's path, is given: it is fetched into FOLDER, in the
version that openai/package-lock.json names.
"""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
GATEWAY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
NPM = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else None
IS_SANITIZED = b"__asan_init" in pathlib.Path(GATEWAY).read_bytes()  # then its memory says nothing
SLOW = """
[server]
access_log = ""
drain_timeout = 10
[[provider]]
name = "mock"
kind = "mock"
models = ["mock"]
tokens = 20
tokens_per_second = 20
first_token_after = 0.05
"""


@contextlib.contextmanager
def gateway(driver, config="", workers=1):
    """The program on a free port; gives (process, port)."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(config)
        file.flush()
        words = [GATEWAY, "--listen", "127.0.0.1:0", "--workers", str(workers)]
        words += ["--config", file.name] if config else []
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PITSAW_DRIVER": driver}) as process:
            try:
                line = process.stderr.readline()
                yield process, int(line.split(":")[-1].split("/")[0])
            finally:
                process.kill()


def ask(port, body, path="/v1/chat/completions"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", path, json.dumps(body))
    return connection.getresponse()


class Clients:
    """The tests of one driver and so many workers."""
    driver, workers = "", 1

    def test_a_whole_answer(self):
        with gateway(self.driver, workers=self.workers) as (_, port):
            answer = json.load(ask(port, {"model": "mock", "messages": []}))
            self.assertEqual(answer["object"], "chat.completion")
            self.assertEqual(answer["usage"]["completion_tokens"], 32)

    def test_curl_gets_events_as_they_come(self):
        if not shutil.which("curl"):
            self.fail("this test needs curl")
        with gateway(self.driver, SLOW, self.workers) as (_, port):
            words = ["curl", "-sSN", f"http://127.0.0.1:{port}/v1/chat/completions", "-d",
                     json.dumps({"model": "mock", "stream": True})]
            with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as curl:
                lines = [curl.stdout.readline()]
                begun = time.monotonic()
                lines += curl.stdout.readlines()
                self.assertGreater(time.monotonic() - begun, 0.5)  # 20 tokens, 20 a second
            self.assertEqual(curl.returncode, 0)
            self.assertEqual(sum(line.startswith("data: ") for line in lines), 22)
            self.assertEqual(lines[-2], "data: [DONE]\n")

    def test_a_hundred_streams_end_whole_after_an_interrupt(self):
        with gateway(self.driver, SLOW, self.workers) as (process, port):
            answers = [ask(port, {"model": "mock", "stream": True}) for _ in range(100)]
            process.send_signal(signal.SIGINT)
            for answer in answers:
                self.assertTrue(answer.read().endswith(b"data: [DONE]\n\n"))
            self.assertEqual(process.wait(10), 0)

    def test_a_second_interrupt_ends_it_at_once(self):
        slower = SLOW.replace("tokens_per_second = 20", "tokens_per_second = 0.1")
        with gateway(self.driver, slower, self.workers) as (process, port):
            answer = ask(port, {"model": "mock", "stream": True})
            process.send_signal(signal.SIGINT)
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(0.3)  # it drains
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(5), -signal.SIGINT)
            answer.close()

    def test_a_reader_of_the_log_may_leave(self):
        words = [GATEWAY, "--listen", "127.0.0.1:0"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PITSAW_DRIVER": self.driver}) as process:
            port = int(process.stderr.readline().split(":")[-1].split("/")[0])
            process.stdout.close()
            for _ in range(2):
                self.assertEqual(ask(port, {"model": "mock"}).status, 200)
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(5), 0)

    def test_clients_that_leave_are_gone_from_its_books(self):
        with gateway(self.driver, SLOW, self.workers) as (_, port):
            for number in range(50):
                answer = ask(port, {"model": "mock", "stream": True})
                if number % 2:
                    answer.read(100)
                answer.close()
            patience = time.monotonic() + 5
            while "gateway_open_calls 0\n" not in (text := self.metrics(port)):
                self.assertLess(time.monotonic(), patience, text)
                time.sleep(0.01)
            self.assertIn('end="client_closed",status="200"} 50\n', text)

    def metrics(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()

    def test_a_body_of_40_MiB_goes_through_without_being_held(self):
        """To an upstream that drops it; the gateway's memory is compared before and after."""
        upstream = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.answer_one, args=(upstream,), daemon=True).start()
        config = f"""[server]\naccess_log = ""\n[[provider]]\nname = "up"\nmodels = ["m"]
url = "http://127.0.0.1:{upstream.getsockname()[1]}/v1"\n"""
        with upstream, gateway(self.driver, config, self.workers) as (process, port):
            self.metrics(port)
            before = self.peak_memory(process.pid)
            image = "A" * (40 << 20)
            answer = ask(port, {"messages": [{"content": f"data:image/png;base64,{image}"}], "model": "m"})
            self.assertEqual(answer.read(), b"{}")
            if not IS_SANITIZED:
                self.assertLess(self.peak_memory(process.pid) - before, 4 << 20)
            process.send_signal(signal.SIGINT)  # its connection to the upstream is kept until then
            self.assertEqual(process.wait(10), 0)

    @staticmethod
    def answer_one(upstream):
        peer, _ = upstream.accept()
        with peer:
            head = b""
            while b"\r\n\r\n" not in head:
                head += peer.recv(4096)
            begin, _, body = head.partition(b"\r\n\r\n")
            left = int(begin.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) - len(body)
            while left > 0:
                left -= len(peer.recv(1 << 20))
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            peer.recv(1)

    @staticmethod
    def peak_memory(pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) << 10

    def test_the_package_of_openai(self):
        if NPM is None:
            self.skipTest("there is no npm")
        folder = FOLDER / "openai"
        shutil.copytree(HERE / "openai", folder, dirs_exist_ok=True)
        if not (folder / "node_modules/openai").exists():
            fetched = subprocess.run([NPM, "ci", "--no-audit", "--no-fund", "--silent"], cwd=folder, timeout=120,
                                     capture_output=True, text=True, check=False)
            if fetched.returncode != 0 and "CI" not in os.environ:
                self.skipTest("npm cannot fetch the package: " + fetched.stderr)
            self.assertEqual(fetched.returncode, 0, fetched.stderr)
        with gateway(self.driver, SLOW, self.workers) as (_, port):
            done = subprocess.run(["node", "client.mjs", f"http://127.0.0.1:{port}/v1"], cwd=folder, timeout=60,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "all as it should be\n"), done.stderr)


class IoUring(Clients, unittest.TestCase):
    driver = "io_uring"


class Epoll(Clients, unittest.TestCase):
    driver = "epoll"


class IoUringOnThree(Clients, unittest.TestCase):
    driver, workers = "io_uring", 3


class EpollOnThree(Clients, unittest.TestCase):
    driver, workers = "epoll", 3


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
