"""The clients' side: an ordinary Flower client, with one mod."""

from pathlib import Path

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from flower_torch.task import network, partition, table, train
from pigou.federation.flower import noise_mod, pigou_client
from pigou.scenario import load

CONTRACT = Path(__file__).parent / "contract.toml"

app = pigou_client(ClientApp())  # priced runs; without: ClientApp()


@app.train(mods=[noise_mod])  # priced runs; without: @app.train()
def train_round(message: Message, context: Context) -> Message:
    """A round of local training."""
    contract, place = load(CONTRACT), int(context.node_config["partition-id"])
    x, y = partition(contract, place)
    model = network()
    model.load_state_dict(message.content.array_records["arrays"].to_torch_state_dict())
    now = message.content.config_records["config"]["server-round"]
    assert isinstance(now, int)
    train(model, x, y, epochs=table(contract).steps, seed=now)
    metrics = MetricRecord({"num-examples": len(y)})
    content = RecordDict({"arrays": ArrayRecord(model.state_dict()), "metrics": metrics})
    return Message(content, reply_to=message)
