#!/usr/bin/env bash
# Scripts/train.sh DATA WORK: trains the shipped model anew and dumps the parity fixtures from it.
# DATA is HAM10000's folder (see Scripts/README.md); WORK takes the cache (4 GB, photographs), the environment and the
# checkpoints, and lies outside the repository. Goes on where it was interrupted. Needs Python 3.11.
set -euo pipefail
data=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
scripts=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=$(dirname "$scripts")

if [ ! -x "$work/environment/bin/python" ]; then
  python3 -m venv "$work/environment"
  "$work/environment/bin/pip" install -r "$scripts/requirements.txt"
fi
python="$work/environment/bin/python"

# Threads that wait by spinning take the cores that their own siblings need; memory given back to the system after
# every step has to be cleared anew.
export OMP_WAIT_POLICY=PASSIVE MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000

# Each run goes on from the weights of the one before with a learning rate that rises once more. In the last one batch
# norms hold their statistics, which is cheaper for weights that know the data already.
export_folder() {
  "$python" "$scripts/export_model.py" --architecture efficientnet_lite2 --checkpoint "$1/model.pt" \
    --num-classes 7 --output "$2" --name dermafusion-lite2
}
train() {
  "$python" "$scripts/train.py" --data "$data" --cache "$work/cache" "$@"
}
train --output "$work/first"
export_folder "$work/first" "$work/first/model"
train --output "$work/second" --initial "$work/first/model" --epochs "224x4500*8,288x3000*2,380x1500"
export_folder "$work/second" "$work/second/model"
train --output "$work/run" --initial "$work/second/model" --epochs "224x5000*5,288x3000,380x1500" \
  --learning-rate 6e-4 --live-epochs 0 --initial-share 0.4
export_folder "$work/run" "$work/model"
"$python" "$scripts/evaluate.py" --model "$work/model" --data "$data" --cache "$work/cache" \
  --split "$work/run/split.csv" --write
"$python" "$scripts/fit_abstention.py" --model "$work/model" --data "$data" --cache "$work/cache" \
  --split "$work/run/split.csv" --write
mkdir -p "$root/Weights/training"
cp "$work/model/config.json" "$work/model/model.safetensors" "$root/Weights/"
cp "$work/model/training/"{figures,abstention}.json "$work/run/"{recipe.json,split.csv,curves.csv} "$root/Weights/training/"
"$python" "$scripts/dump_fixtures.py" --model "$root/Weights"
"$python" "$scripts/dump_gradcam_fixtures.py" --model "$root/Weights"
