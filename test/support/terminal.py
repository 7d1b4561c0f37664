"""Runs a command on a terminal of its own: `terminal.py COLUMNS ROWS COMMAND…`.

What it writes comes on standard output, what stands on standard input is typed. At the end the last line on standard
error tells how it ended, by a negative number for a signal, and whether the terminal was left as it was found:
{"code": 0, "restored": true}. TERMINAL_CLOSES_AT is a text at whose end the terminal is closed.
"""
import fcntl, json, os, pty, select, struct, sys, termios

closes_at = os.environ.pop('TERMINAL_CLOSES_AT', '').encode()
columns, rows, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
before = termios.tcgetattr(slave)
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for stream in (0, 1, 2):
        os.dup2(slave, stream)
    os.close(master)
    os.close(slave)
    os.execvp(command[0], command)

sources, ended, shown, is_closed = [master, 0], None, b'', False
while ended is None or (not is_closed and select.select([master], [], [], 0)[0]):
    for source in select.select(sources, [], [], 0.02)[0]:
        data = os.read(source, 65536)
        if source == master:
            os.write(1, data)
            shown += data if closes_at else b''
            if closes_at and closes_at in shown:
                os.close(slave)
                os.close(master)
                sources, is_closed = [], True
                break
        elif data:
            os.write(master, data)
        else:
            sources.remove(0)
    if ended is None:
        pid, status = os.waitpid(child, os.WNOHANG)
        ended = os.waitstatus_to_exitcode(status) if pid else None
restored = not is_closed and termios.tcgetattr(slave) == before
print(json.dumps({'code': ended, 'restored': restored}), file=sys.stderr)
