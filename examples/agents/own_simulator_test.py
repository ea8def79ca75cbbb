"""Two simulators that are not ours, around one server: each sees the other."""
import os
import subprocess
import sys
import tempfile

command, simulator = sys.argv[1:3]
with tempfile.TemporaryDirectory() as folder:
    key = os.path.join(folder, "key")
    with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(os.urandom(32).hex())
    server = subprocess.Popen([command, "serve", "agents", "--key", key, "--at", "127.0.0.1:0", "--wait-for", "2",
                               "--quiet"], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().split(" at ")[1].split(",")[0]
        clients = [subprocess.Popen([simulator, address, key, name], stdout=subprocess.PIPE, text=True)
                   for name in ("east", "west")]
        for client in clients:
            said = client.communicate(timeout=100)[0]
            assert client.returncode == 0 and int(said.split()[-2]) > 100, said
            print(said, end="")
    finally:
        server.kill()
        server.wait()
