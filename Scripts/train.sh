#!/usr/bin/env bash
# Scripts/train.sh VERSION DATA WORK [OTHERS]: trains a model like the shipped one, under that version, puts it in its
# place and dumps the parity fixtures from it.
# DATA is the folder of photographs, OTHERS one of pictures to abstain from (see Scripts/README.md). WORK takes the cache
# (4 to 8 GB, photographs), the environment and the checkpoints, and lies outside the repository. Goes on where it was interrupted: for a new training give it a new one.
# Needs Python 3.11.
# With --rehearse in the place of the version every run is cut to a few steps and the repository stays as it is: to see
# that all steps work.
set -euo pipefail
if [ $# -lt 3 ] || [ $# -gt 4 ] || [ ! -d "$2" ] || [ ! -d "${4:-$2}" ]; then
  echo "usage: Scripts/train.sh VERSION|--rehearse DATA WORK [OTHERS]" >&2
  exit 64
fi
version=$1
rehearse=
if [ "$version" = --rehearse ]; then
  rehearse=yes
  version=0.0.0
fi
if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  echo "$version: a version reads like 1.3.0" >&2
  exit 64
fi
data=$(realpath "$2")
others=()
if [ $# -eq 4 ]; then others=(--others "$(realpath "$4")"); fi
mkdir -p "$3"
work=$(realpath "$3")
runs="$work${rehearse:+/rehearsal}"
# A rehearsal's checkpoints are none to go on from.
if [ -n "$rehearse" ]; then rm -rf "$runs"; fi
mkdir -p "$runs"
scripts=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=$(dirname "$scripts")

# shellcheck source=Scripts/lib/python.sh
source "$scripts/lib/python.sh"
make_environment "$work/environment"
python="$work/environment/bin/python"

# Threads that wait by spinning take the cores that their own siblings need; memory given back to the system after
# every step has to be cleared anew.
export OMP_WAIT_POLICY=PASSIVE MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000

# The lesions of the list stay on their sides, so that figures of versions compare.
sides="$work/sides.csv"
if [ ! -f "$sides" ]; then cp "$root/Weights/training/split.csv" "$sides"; fi

train() { # RUN ARCHITECTURE EPOCHS OPTION...: a run and its model folder
  local run=$1 epochs=${rehearse:+64x96,96x96,256x48}
  "$python" "$scripts/train.py" --data "$data" --cache "$work/cache" --output "$run" --architecture "$2" \
    --sides "$sides" --epochs "${epochs:-$3}" "${@:4}"
  "$python" "$scripts/export_model.py" --architecture "$2" --checkpoint "$run/model.pt" --num-classes 7 \
    --output "$run/model" --name "dermafusion-${2#efficientnet_}" --version "$version"
}

# Each run goes on from the weights of the one before with a learning rate that rises once more, and with a seed of its
# own, or it would see the same views again. From the third on batch norms hold their statistics, cheaper for weights
# that know the data already. A second network, trained apart, and the third run's answer for a half of the fourth
# run's targets; its result is half of its weights and half of those that it began with, and so is that of the fifth, in
# which the stem and three stages do not learn. In the last two runs all learn; the result is half of each.
lite2=efficientnet_lite2
train "$runs/first" $lite2 "160x4500*3,192x4500*3,224x4500*2,288x4500*2" --seed 1
train "$runs/second" $lite2 "224x4500*8,288x3000*2,380x1500" --initial "$runs/first/model" --seed 2
train "$runs/third" $lite2 "224x5000*5,288x3000,380x1500" --initial "$runs/second/model" --seed 3 \
  --learning-rate 6e-4 --live-epochs 0 --initial-share 0.4
train "$runs/companion" efficientnet_lite1 "160x6000*6,192x6000*3,224x6000*8,288x4000,380x2000" --seed 4
train "$runs/fourth" $lite2 "256x4000*2,288x4000*3,320x4000*2,380x3000*2" --initial "$runs/third/model" --seed 5 \
  --learning-rate 6e-4 --live-epochs 0 --initial-share 0.5 \
  --teachers "$runs/third/model" "$runs/companion/model" --votes 0.6 0.4
train "$runs/fifth" $lite2 "256x2400*6,288x2400*3,320x2000*2,380x1072" --initial "$runs/fourth/model" --seed 202 \
  --learning-rate 6e-4 --live-epochs 0 --frozen-stages 3 --dropout 0.25 --initial-share 0.5
train "$runs/sixth" $lite2 "256x3600*6,288x3600*2,320x2400,320x3120" --initial "$runs/fifth/model" --seed 57 \
  --learning-rate 6e-4 --live-epochs 0 --dropout 0.25
train "$runs/run" $lite2 "256x3600*6,288x3600*2,320x2400*2,380x640" --initial "$runs/sixth/model" --seed 91 \
  --learning-rate 6e-4 --live-epochs 0 --dropout 0.25 --initial-share 0.5

model="$runs/run/model"
judge=(--model "$model" --data "$data" --cache "$work/cache" --split "$runs/run/split.csv" --write)
"$python" "$scripts/evaluate.py" "${judge[@]}"
# Photographs in full size alone would give limits that refuse smaller ones.
"$python" "$scripts/fit_abstention.py" "${judge[@]}" "${others[@]}" --limits "$root/Weights"
"$python" "$scripts/join_runs.py" --output "$model/training" "$runs/first" "$runs/second" \
  "$runs/third" "$runs/companion" "$runs/fourth" "$runs/fifth" "$runs/sixth" "$runs/run"
if [ -n "$rehearse" ]; then exit; fi

mkdir -p "$root/Weights/training"
cp "$model/"{config.json,model.safetensors,SHA256SUMS} "$root/Weights/"
cp "$model/training/"* "$root/Weights/training/"
"$python" "$scripts/quantize_model.py" --model "$root/Weights" --images "$data" \
  --split "$root/Weights/training/split.csv" --output "$root/Weights/int8"
"$python" "$scripts/validation_table.py" --data "$data" --split "$runs/run/split.csv" --output "$work/validation.csv"
cd "$data" # the folders' names are the groups of the evaluation
folders=()
for folder in ham10000 full600x450 fused600x450 crop224 low200x150; do
  if [ -d "$folder" ]; then folders+=(--images "$folder"); fi
done

# judge_views NAME OPTION...: the evaluation with these options as Weights/training/NAME.json.
judge_views() {
  "$scripts/run" evaluate --model "$root/Weights" --labels "$work/validation.csv" "${folders[@]}" --format json \
    "${@:2}" > "$work/$1.json"
  mv "$work/$1.json" "$root/Weights/training/$1.json"
}
judge_views evaluation
judge_views evaluation_tta --tta
"$python" "$scripts/dump_fixtures.py" --model "$root/Weights"
"$python" "$scripts/dump_gradcam_fixtures.py" --model "$root/Weights"
echo "Weights/README.md and Weights/int8/README.md still describe the model before: bring their version, figures and training up to date." >&2
