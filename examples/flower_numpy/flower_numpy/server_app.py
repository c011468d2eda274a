"""The server's side: an ordinary Flower server, whose strategy is wrapped."""

from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from flower_numpy.client_app import CONTRACT
from flower_numpy.task import accuracy, loss, test_set
from pigou.deployment import Federation
from pigou.federation.flower import PricedStrategy

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """All rounds of the contract."""
    config = {name: str(value) for name, value in context.run_config.items()}
    folder = config["federation"]
    here = Federation.deployed(Path(folder)) if folder else Federation.simulated(CONTRACT)
    x, y = test_set(here.contract)

    def evaluate(_: int, arrays: ArrayRecord) -> MetricRecord:
        model = arrays.to_numpy_ndarrays()[0]
        return MetricRecord({"accuracy": accuracy(model, x, y), "loss": loss(model, x, y)})

    mine = FedAvg(fraction_evaluate=0.0, min_available_nodes=here.contract.limits.min_clients)
    with here.book(config["ledger"]) as book:
        prices = here.pricing(config["run"], book, config["mechanism"])
        strategy = PricedStrategy(mine, **prices)  # without prices: strategy = mine
        start = ArrayRecord([np.zeros(x.shape[1], np.float32)])
        result = strategy.start(grid=grid, initial_arrays=start, timeout=300, evaluate_fn=evaluate)
    for each, metrics in sorted(result.evaluate_metrics_serverapp.items()):
        print(f"round {each}: accuracy {metrics['accuracy']:.4f}, loss {metrics['loss']:.4f}")
