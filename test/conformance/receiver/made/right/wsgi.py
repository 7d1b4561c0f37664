# WSGI. Answers by HTTP/1.0 with a text, and parses the JSON strictly after it is verified.
import hashlib
import hmac
import json
import os
import time
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

KEY = os.environ["WEBHOOK_SECRET"].encode("ascii")


def unique(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def constant(name):
    raise ValueError(name)


def application(environ, start_response):
    def answer(status, text=b""):
        start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(text)))])
        return [text]

    if environ["REQUEST_METHOD"] != "POST":
        return answer("405 Method Not Allowed")
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    try:
        time_part, *others = environ.get("HTTP_X_SERVICE_SIGNATURE", "").split(",")
        stamp = time_part.removeprefix("t=")
        if not time_part.startswith("t=") or not (stamp.isascii() and stamp.isdigit()):
            raise PermissionError
        mine = hmac.new(KEY, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        theirs = [one[3:].encode("latin-1") for one in others if one.startswith("v1=")]
        if len(theirs) != len(others) or not any(hmac.compare_digest(mine.encode(), one) for one in theirs):
            raise PermissionError
        if abs(time.time() - int(stamp)) > 300:
            raise PermissionError
    except PermissionError:
        return answer("403 Forbidden", b"not genuine\n")
    event = json.loads(body, object_pairs_hook=unique, parse_constant=constant)
    return answer("200 OK", event["id"].encode())


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


with make_server("127.0.0.1", int(os.environ["PORT"]), application, Server, Quiet) as server:
    print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
