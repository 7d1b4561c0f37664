# Runs signature vectors against fixtures/receivers/python.py. Arguments: the receiver, the vectors.
import base64
import importlib.util
import json
import sys

sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("receiver", sys.argv[1])
receiver = importlib.util.module_from_spec(spec)
spec.loader.exec_module(receiver)
with open(sys.argv[2], encoding="utf-8") as file:
    vectors = json.load(file)["vectors"]
failed = 0
for one in vectors:
    body = base64.b64decode(one["body"])
    genuine = receiver.is_genuine(one["secret"], one["header"] or "", body, one["now"], one["tolerance"])
    if one["verdict"] != "either" and genuine != (one["verdict"] == "accepted"):
        print(one["name"], file=sys.stderr)
        failed += 1
print(f"python: {len(vectors) - failed} of {len(vectors)}")
sys.exit(failed > 0)
