"""The clients' side: an ordinary Flower client, with one mod."""

from pathlib import Path

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from flower_numpy.task import loss, partition, table, trained
from pigou.federation.flower import noise_mod, pigou_client
from pigou.scenario import load

CONTRACT = Path(__file__).parent / "contract.toml"

app = pigou_client(ClientApp())  # priced runs; without: ClientApp()


@app.train(mods=[noise_mod])  # priced runs; without: @app.train()
def train(message: Message, context: Context) -> Message:
    """A round of local training."""
    contract = load(CONTRACT)
    x, y = partition(contract, int(context.node_config["partition-id"]))
    model = message.content.array_records["arrays"].to_numpy_ndarrays()[0]
    new = ArrayRecord([trained(model, x, y, table(contract).steps)])
    metrics = MetricRecord({"num-examples": len(y), "loss": loss(model, x, y)})
    return Message(RecordDict({"arrays": new, "metrics": metrics}), reply_to=message)
