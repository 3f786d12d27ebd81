"""The graph without a server, the lower bound for all servers.

Prints the median and the processor time in ms of as many runs as asked, as JSON.
"""

import asyncio
import json
import statistics
import sys
import time
import uuid

from echo import graph


async def main(runs: int) -> None:
    times = []
    before = 0.0
    for n in range(runs + 100):
        if n == 100:
            before = time.process_time()
        start = time.perf_counter()
        await graph.ainvoke({"text": "hello"}, {"configurable": {"thread_id": str(uuid.uuid4())}})
        if n >= 100:
            times.append((time.perf_counter() - start) * 1000)
    cpu = (time.process_time() - before) * 1000 / runs
    print(json.dumps({"median": statistics.median(times), "cpu": cpu}))


asyncio.run(main(int(sys.argv[1])))
