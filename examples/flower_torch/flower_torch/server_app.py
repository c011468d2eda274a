"""The server's side: an ordinary Flower server, whose strategy is wrapped."""

from pathlib import Path

from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from flower_torch.client_app import CONTRACT
from flower_torch.task import measured, network, test_set
from pigou.deployment import Federation
from pigou.federation.flower import PricedStrategy

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """All rounds of the contract."""
    config = {name: str(value) for name, value in context.run_config.items()}
    folder = config["federation"]
    here = Federation.deployed(Path(folder)) if folder else Federation.simulated(CONTRACT)
    x, y = test_set()

    def evaluate(now: int, arrays: ArrayRecord) -> MetricRecord:
        model = network()
        model.load_state_dict(arrays.to_torch_state_dict())
        accuracy, loss = measured(model, x, y)
        print(f"round {now}: accuracy {accuracy:.4f}, loss {loss:.4f}")
        return MetricRecord({"accuracy": accuracy, "loss": loss})

    mine = FedAvg(fraction_evaluate=0.0, min_available_nodes=here.contract.limits.min_clients)
    start = ArrayRecord(network().state_dict())
    with here.book(config["ledger"]) as book:
        prices = here.pricing(config["run"], book, config["mechanism"])
        strategy = PricedStrategy(mine, **prices)  # without prices: strategy = mine
        strategy.start(grid=grid, initial_arrays=start, timeout=300, evaluate_fn=evaluate)
