"""What noise costs on this task, and how honest updates differ: lines to paste into contract.toml.

    python calibrate.py

As `pigou calibrate` does for its own learners (theory, section 10): whole trainings with noise on
the aggregate, at several levels and with several seeds, against one without; and the deviations of
noiseless updates along that one. Clients hold like data here, so that what sets their updates apart
is spread, and divergence is 0.
"""

import numpy as np
import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from flower_torch.client_app import CONTRACT
from flower_torch.task import measured, network, partition, table, train
from pigou.federation.calibration import fit
from pigou.scenario import load

LEVELS = (0.01, 0.03, 0.06, 0.12)  # Delta: standard deviations of the aggregate, per number
SEEDS = (0, 1)


def main() -> None:
    """Measure, fit, print."""
    contract = load(CONTRACT)
    shares = [partition(contract, place) for place in range(contract.n)]
    images, digits = (torch.cat(parts) for parts in zip(*shares, strict=True))

    def trained(level: float, seed: int) -> tuple[float, float, list[float], list[float]]:
        noise = torch.Generator().manual_seed(seed)
        model, norms, deviations = network(), [], []
        for now in range(1, contract.federation.rounds + 1):
            start = parameters_to_vector(model.parameters()).detach()
            updates = []
            for x, y in shares:
                vector_to_parameters(start.clone(), model.parameters())
                train(model, x, y, table(contract).steps, seed=now)
                updates.append(parameters_to_vector(model.parameters()).detach() - start)
            lengths = torch.stack([update.norm() for update in updates])
            clipped = (
                torch.stack(updates) * torch.clamp(contract.privacy.clip / lengths, max=1)[:, None]
            )
            mean = clipped.mean(dim=0)
            others = (mean * len(updates) - clipped) / (len(updates) - 1)
            norms.append(float(lengths.mean()))
            deviations.append(float((clipped - others).square().mean()))
            drawn = torch.randn(len(start), generator=noise)
            vector_to_parameters(start + mean + level * drawn, model.parameters())
        accuracy, loss = measured(model, images, digits)
        return accuracy, loss, norms, deviations

    _, clean, norms, deviations = trained(0.0, 0)
    print("norm of an honest update, by round:", *(f"{norm:.3g}" for norm in norms))
    rows = []
    for level in LEVELS:
        runs = [trained(level, seed) for seed in SEEDS]
        rows.append([loss - clean for _, loss, *_ in runs])
        print(
            f"noise {level:g}: excess loss",
            *(f"{each:.4g}" for each in rows[-1]),
            "accuracy",
            *(f"{accuracy:.4f}" for accuracy, *_ in runs),
        )
    excess = np.array(rows)
    errors = excess.std(axis=1, ddof=1) / np.sqrt(len(SEEDS))
    loss = fit(np.array(LEVELS), excess.mean(axis=1), errors)
    print(f"fitted: {[float(f'{loss(level):.4g}') for level in LEVELS]}")
    n = contract.n
    print(f"\n[loss]\nlinear = {loss.linear:.4g}\nquadratic = {loss.quadratic:.4g}")
    print(f"\n[federation]\nspread = {np.mean(deviations) * (n - 1) / n:.3g}")


if __name__ == "__main__":
    main()
