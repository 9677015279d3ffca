# SPDX-License-Identifier: Apache-2.0
"""`attn explore`: what its server answers and what it refuses. Loopback only; the page is a folder
made here, so the tests need no browser and no build of web/."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from support import ATTN, WINDOWS, CliTest, main, posix_only

HTML, SCRIPT, WASM = b"<!doctype html>page", b"export{}", b"\0asm\1\0\0\0"
SECONDS = 20  # no answer may take longer


class Server:
    """attn explore on a free port, ended when the test ends."""

    def __init__(self, test, *args, attn=ATTN, env={}):
        self.process = subprocess.Popen([attn, "explore", "--port", "0", *args], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=dict(os.environ, NO_COLOR="1", **env))
        test.addCleanup(self.end)
        self.said = self.process.stdout.readline().decode()
        while self.said.startswith("{") and not self.said.rstrip().endswith("}"):
            self.said += self.process.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.said)
        test.assertTrue(found, "no address: %r" % self.said)
        self.port = int(found.group(1))

    def end(self, how=signal.SIGINT if WINDOWS else signal.SIGTERM):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(SECONDS)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def ask(self, path, method="GET", **how):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.request(method, path, **how)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def raw(self, data):
        """What comes back for these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), SECONDS) as to:
            back = b""
            try:
                to.sendall(data)
                to.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before all of it was read
            try:
                while part := to.recv(65536):
                    back += part
            except ConnectionResetError:
                pass
            return back


class ExploreTest(CliTest):
    def setUp(self):
        super().setUp()
        self.page = self.path("page")
        os.makedirs(os.path.join(self.page, "assets"))
        os.makedirs(os.path.join(self.page, "single"))
        for name, data in [("index.html", HTML), ("assets/index-DiwrgTda.js", SCRIPT), ("engine.wasm", WASM),
                           ("models.json", b"[]"), ("single/attention-lab.html", HTML)]:
            with open(os.path.join(self.page, name), "wb") as f:
                f.write(data)
        with open(self.path("secret"), "wb") as f:
            f.write(b"secret")
        if not WINDOWS:  # wine shows links as what they lead to
            os.symlink(self.path("secret"), os.path.join(self.page, "link.html"))
            os.symlink("/etc", os.path.join(self.page, "etc"))

    def serve(self, *args, **how):
        return Server(self, "--dir", self.page, *args, **how)


class Answers(ExploreTest):
    def test_the_page_is_there(self):
        server = self.serve()
        for path in ("/", "/index.html", "/?test", "/index.html?a=b"):
            self.assertEqual(server.ask(path)[::2], (200, HTML), path)

    def test_each_file_has_its_type(self):
        server = self.serve()
        for path, expected in [("/", "text/html; charset=utf-8"), ("/engine.wasm", "application/wasm"),
                               ("/assets/index-DiwrgTda.js", "text/javascript; charset=utf-8"),
                               ("/models.json", "application/json")]:
            self.assertEqual(server.ask(path)[1]["Content-Type"], expected)

    def test_every_answer_isolates_the_page_and_names_no_other_origin(self):
        server = self.serve()
        for path, method in [("/", "GET"), ("/assets/index-DiwrgTda.js", "GET"), ("/nothing", "GET"), ("/", "POST")]:
            headers = server.ask(path, method)[1]
            self.assertEqual(headers["Cross-Origin-Opener-Policy"], "same-origin")
            self.assertEqual(headers["Cross-Origin-Embedder-Policy"], "require-corp")
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            policy = headers["Content-Security-Policy"]
            self.assertTrue(policy.startswith("default-src 'none';"))
            self.assertNotRegex(policy, r"https?:|\*|unsafe-inline|'unsafe-eval'")

    def test_only_names_with_a_hash_are_kept_by_the_browser(self):
        server = self.serve()
        self.assertIn("immutable", server.ask("/assets/index-DiwrgTda.js")[1]["Cache-Control"])
        for path in ("/", "/engine.wasm", "/models.json", "/nothing"):
            self.assertEqual(server.ask(path)[1]["Cache-Control"], "no-cache")

    def test_the_page_in_one_file_is_for_saving(self):
        self.assertEqual(self.serve().ask("/single/attention-lab.html")[1]["Content-Disposition"], "attachment")

    def test_head_is_get_without_the_body(self):
        server = self.serve()
        get, head = server.ask("/engine.wasm"), server.ask("/engine.wasm", "HEAD")
        self.assertEqual((head[0], head[2]), (200, b""))
        self.assertEqual({k: v for k, v in head[1].items() if k != "Date"},
                         {k: v for k, v in get[1].items() if k != "Date"})
        self.assertEqual(head[1]["Content-Length"], str(len(WASM)))

    def test_one_connection_serves_many_requests(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.serve().port, timeout=SECONDS)
        connection.connect()
        socket_before = connection.sock
        for _ in range(20):
            connection.request("GET", "/")
            self.assertEqual(connection.getresponse().read(), HTML)
            self.assertIs(connection.sock, socket_before)
        connection.close()


class Refusals(ExploreTest):
    def test_other_methods_are_refused(self):
        server = self.serve()
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "NONSENSE"):
            status, headers, _ = server.ask("/", method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)
        self.assertIn(b"HTTP/1.1 405 ", server.raw(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nx"))
        self.assertEqual(server.ask("/", "GET", body=b"x" * 1000)[0], 200)

    def test_no_path_leads_out(self):
        server = self.serve()
        for path in ("/../secret", "/..%2fsecret", "/%2e%2e/secret", "/assets/../../secret", "//etc/passwd", "/etc/passwd",
                     "/link.html", "/etc/hostname", "/%2fetc/passwd", "/..\\secret", "/index.html%00", "/.", "/assets/",
                     "/assets", "/%69ndex.html", "/./index.html", "/" + "../" * 40 + "etc/passwd",
                     "/" + "%2e%2e%2f" * 40 + "etc/passwd", self.path("secret")):
            status, _, body = server.ask(path)
            self.assertEqual((status, body), (404, b"Not found.\n"), path)

    def test_malformed_requests_end_with_an_error_and_the_server_stays(self):
        server = self.serve()
        for data in (b"GET\r\n\r\n", b"GET index.html HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                     b"GET http://127.0.0.1/../secret HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                     b"GET / HTTP/9.9\r\n\r\n", bytes(range(256)) * 8):
            back = server.raw(data)
            self.assertNotIn(b"secret", back)
            self.assertNotRegex(back[:20], rb"^HTTP/1.. 200 ", data[:60])
        self.assertNotIn(b"secret", server.raw(b"GET /\0../secret HTTP/1.1\r\nConnection: close\r\n\r\n"))
        self.assertEqual(server.ask("/")[0], 200)

    def test_a_huge_request_is_refused_and_the_server_stays(self):
        server = self.serve()
        for data in (b"GET /" + b"a" * 1000000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: " + b"a" * 1000000 + b"\r\n\r\n"):
            back = server.raw(data)
            self.assertTrue(back == b"" or re.match(rb"HTTP/1.1 4(14|13|31|00) ", back), back[:40])
        self.assertEqual(server.ask("/")[0], 200)

    def test_many_connections_at_once(self):
        server = self.serve()
        idle = [socket.create_connection(("127.0.0.1", server.port), SECONDS) for _ in range(150)]
        try:
            self.assertEqual(server.ask("/")[0], 200)
            for one in idle:
                one.sendall(b"GET /models.json HTTP/1.1\r\nHost: x\r\n\r\n")
            for one in idle:
                self.assertIn(b"200 OK", one.recv(65536))
        finally:
            for one in idle:
                one.close()
        self.assertEqual(server.ask("/")[0], 200)

    @posix_only
    def test_requests_that_arrive_together_are_all_answered(self):
        # libmicrohttpd takes 128 events at a time from epoll and, if there were that many, waits for more before it answers
        server = self.serve()
        clients = [socket.create_connection(("127.0.0.1", server.port), SECONDS) for _ in range(128)]
        try:
            self.assertEqual(server.ask("/")[0], 200)  # all are accepted by now: connections are taken in order
            time.sleep(0.2)  # until the server has noticed the end of that connection, which is an event too
            server.process.send_signal(signal.SIGSTOP)
            os.waitpid(server.process.pid, os.WUNTRACED)
            for one in clients:
                one.sendall(b"GET /models.json HTTP/1.1\r\nHost: x\r\n\r\n")
            server.process.send_signal(signal.SIGCONT)
            for one in clients:
                self.assertIn(b"200 OK", one.recv(65536))
        finally:
            for one in clients:
                one.close()

    def test_other_interfaces_are_not_served(self):
        server = self.serve()
        with socket.socket() as other:
            other.settimeout(SECONDS)
            # the whole of 127/8 is this machine, but only .1 is bound
            self.assertNotEqual(other.connect_ex(("127.0.0.2", server.port)), 0)


class Command(ExploreTest):
    @posix_only
    def test_interrupt_and_termination_end_it_with_0(self):
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            server = self.serve()
            server.ask("/")
            self.assertEqual(server.end(how), 0, how)

    def test_it_ends_while_clients_are_connected(self):
        server = self.serve()
        with socket.create_connection(("127.0.0.1", server.port), SECONDS) as to:
            to.sendall(b"GET / HT")
            self.assertEqual(server.end(signal.SIGINT), 0)

    def test_a_taken_port_is_named_with_a_way_out(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            out, err = self.run_attn("explore", "--dir", self.page, "--port", str(port), expect=1)
        self.assertEqual(out, "")
        self.assertIn("port %d: in use by another program" % port, err)
        self.assertIn("--port 0", err)

    def test_a_folder_without_a_page_is_named_with_a_way_out(self):
        os.mkdir(self.path("empty"))
        for folder in ("empty", "missing", "secret"):
            err = self.run_attn("explore", "--dir", folder, expect=3)[1]
            self.assertIn("attn explore: %s: " % folder, err)
            self.assertIn("make explore", err)

    @posix_only
    def test_an_index_that_is_a_link_is_no_page(self):
        os.mkdir(self.path("linked"))
        os.symlink(self.path("secret"), self.path("linked/index.html"))
        self.assertIn("index.html is not a file", self.run_attn("explore", "--dir", "linked", expect=3)[1])

    @posix_only
    def test_a_tree_that_is_no_page_is_refused(self):
        deep = os.path.join(self.page, "a/b/c/d/e")
        os.makedirs(deep)
        self.assertIn("too large for a page", self.run_attn("explore", "--dir", self.page, expect=3)[1])

    def test_bad_options_are_refused(self):
        for args in (["--port", "65536"], ["--port", "-1"], ["--port", "x"], ["somewhere"]):
            self.run_attn("explore", *args, expect=2)

    def test_json_names_the_address(self):
        server = self.serve("--json")
        self.assertEqual(json.loads(server.said)["files"], 5)
        self.assertEqual(server.ask("/")[0], 200)

    @posix_only
    def test_open_starts_the_browser_with_the_address(self):
        os.mkdir(self.path("bin"))
        with open(self.path("bin/xdg-open"), "w") as f:
            f.write('#!/bin/sh\necho "$1" > "%s"\n' % self.path("opened"))
        os.chmod(self.path("bin/xdg-open"), 0o755)
        server = self.serve("--open", env={"PATH": self.path("bin") + ":/usr/bin:/bin"})
        opened = ""
        for _ in range(10 * SECONDS):
            if os.path.exists(self.path("opened")):
                with open(self.path("opened")) as f:
                    opened = f.read()
            if opened.endswith("\n"):
                break
            time.sleep(0.1)
        self.assertEqual(opened, "http://127.0.0.1:%d/\n" % server.port)

    @posix_only
    def test_without_a_browser_the_page_is_still_served(self):
        server = self.serve("--open", env={"PATH": self.path("nowhere")})
        self.assertIn("open the address yourself", server.process.stderr.readline().decode())
        self.assertEqual(server.ask("/")[0], 200)


@posix_only
class Places(ExploreTest):
    """The page is found beside the executable."""

    def put_attn(self, folder):
        os.makedirs(self.path(folder))
        attn = os.path.join(self.path(folder), "attn")
        shutil.copy(ATTN, attn)
        return attn

    def test_installed(self):
        attn = self.put_attn("prefix/bin")
        shutil.copytree(self.page, self.path("prefix/share/attn/explorer"), symlinks=True)
        self.assertEqual(Server(self, attn=attn).ask("/")[2], HTML)

    def test_built(self):
        attn = self.put_attn("build/release/cli")
        shutil.copytree(self.page, self.path("web/dist"), symlinks=True)
        self.assertEqual(Server(self, attn=attn).ask("/")[2], HTML)

    def test_nowhere(self):
        done = subprocess.run([self.put_attn("alone/bin"), "explore", "--port", "0"], timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, NO_COLOR="1"))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"the page is not built", done.stderr)
        self.assertIn(b"share/attn/explorer", done.stderr)
        self.assertIn(b"make explore", done.stderr)


if __name__ == "__main__":
    main()
