"""The graph without a server, the lower bound for all servers: prints the median of as many runs as asked, in ms."""

import asyncio
import statistics
import sys
import time
import uuid

from echo import graph


async def main(runs: int) -> None:
    times = []
    for n in range(runs + 100):
        start = time.perf_counter()
        await graph.ainvoke({"text": "hello"}, {"configurable": {"thread_id": str(uuid.uuid4())}})
        if n >= 100:
            times.append((time.perf_counter() - start) * 1000)
    print(statistics.median(times))


asyncio.run(main(int(sys.argv[1])))
