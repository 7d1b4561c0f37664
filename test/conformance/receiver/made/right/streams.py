# asyncio streams, with HTTP read by hand. One connection, one answer; 410 to what is forged.
import asyncio
import hmac
import os
import re
import time

SECRET = os.environ["WEBHOOK_SECRET"].encode()


def status_of(headers, body):
    values = [value for name, value in headers if name == b"x-service-signature"]
    match = re.fullmatch(rb"t=(\d{1,18})((?:,v1=[0-9a-f]{64})+)", values[0]) if len(values) == 1 else None
    if match is None or abs(time.time() - int(match[1])) > 300:
        return b"410 Gone"
    mine = hmac.digest(SECRET, match[1] + b"." + body, "sha256").hex().encode()
    signatures = match[2].split(b",v1=")[1:]
    return b"204 No Content" if any([hmac.compare_digest(one, mine) for one in signatures]) else b"410 Gone"


async def serve(reader, writer):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.split(b"\r\n")[1:-2]
        headers = [(name.lower(), value.strip()) for name, value in (line.split(b":", 1) for line in lines)]
        body = await reader.readexactly(int(dict(headers).get(b"content-length", 0)))
        writer.write(b"HTTP/1.1 " + status_of(headers, body) + b"\r\nConnection: close\r\n\r\n")
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["PORT"]), limit=4 * 2**20)
    print(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
    await server.serve_forever()


asyncio.run(main())
