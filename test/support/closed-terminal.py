"""Runs a command on a terminal, and closes that once the command has printed a text: `closed-terminal.py TEXT COMMAND…`.

The last line on standard output tells how the command ended: {"signal": 1}, or {"code": 0}.
"""
import fcntl, json, os, pty, sys, termios

text, command = sys.argv[1].encode(), sys.argv[2:]
master, slave = pty.openpty()
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for stream in (0, 1, 2):
        os.dup2(slave, stream)
    os.close(master)
    os.close(slave)
    os.execvp(command[0], command)

os.close(slave)
shown = b''
while text not in shown:
    shown += os.read(master, 65536)
os.close(master)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps({'signal': -status} if status < 0 else {'code': status}))
