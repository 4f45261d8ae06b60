"""Adds nodes to the feed-forward layers of a Transformer, which translates as before until it is trained further.

python -m examples.everyday.widen MODEL.pocketmt --feed-forward-dimension 1536 --seed 1 --output WIDER.pocketmt
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import torch

from pocketmt.errors import ConfigurationError, PocketMTError
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.models.networks import make_network
from pocketmt.packing.contents import FLOAT32, contents_of
from pocketmt.packing.decoded import read_model
from pocketmt.packing.model_file import pack
from pocketmt.training.trained_model import TrainedModel


def main() -> int:
    """Write the wider model; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="model file, run folder or bundled name")
    parser.add_argument("--feed-forward-dimension", type=int, required=True, help="nodes of each layer afterwards")
    parser.add_argument("--seed", type=int, default=1, help="of the new nodes' weights (default: %(default)s)")
    parser.add_argument("--output", "-o", type=Path, required=True, help="model file to write, in fp32")
    options = parser.parse_args()
    try:
        model = widened(read_model(options.model), options.feed_forward_dimension, options.seed)
        pack(options.output, contents_of(model, FLOAT32, training=model.training))
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def widened(model: TrainedModel, nodes: int, seed: int) -> TrainedModel:
    """Return a model with more nodes in every feed-forward layer, of the same function.

    New nodes have the random incoming weights of an untrained network, and outgoing weights of 0. Incoming weights of 0
    as well would keep the gradients of both at 0.

    Args:
        model: a Transformer whose layers are equally wide.
        nodes: of each feed-forward layer afterwards.
        seed: of the random weights.

    Raises ConfigurationError for another network, or for fewer nodes than it has.
    """
    old = model.architecture
    if not isinstance(old, TransformerArchitecture) or old.encoder_feed_forward or old.decoder_feed_forward:
        raise ConfigurationError(f"{model.name}: only a Transformer with equally wide layers can be made wider")
    if nodes < old.feed_forward_dimension:
        raise ConfigurationError(
            f"{model.name}: its feed-forward layers have {old.feed_forward_dimension} nodes, more than {nodes}: "
            "pruning makes layers narrower, see `pocketmt compress --help`"
        )
    architecture = replace(old, feed_forward_dimension=nodes)
    torch.manual_seed(seed)
    weights = dict(make_network(architecture).state_dict())
    for name, weight in model.weights.items():
        if name.endswith("feed_forward.outer.weight"):
            weights[name] = torch.zeros_like(weights[name])
        weights[name][tuple(slice(size) for size in weight.shape)] = weight
    return replace(model, weights=weights, architecture=architecture, float_file=None)


if __name__ == "__main__":
    sys.exit(main())
