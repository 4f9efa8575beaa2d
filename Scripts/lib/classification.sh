# shellcheck shell=bash
# Compares the results of two builds of the program on one image. Source setup.sh first.

# find_model: sets `model` to the folder to classify with, the shipped one where DERMAFUSION_MODEL names no other.
find_model() {
  model=${DERMAFUSION_MODEL:-$root/Weights}
  [ -f "$model/config.json" ] || fail "$model: there is no model to classify with"
}

# probabilities_of FILE: the predicted class, then each class with its probability, one a line, from a file with one
# result of `classify --format json`.
probabilities_of() {
  sed -n 's/.*"prediction":{"class":"\([^"]*\)".*/\1/p' "$1"
  sed -n 's/.*"probabilities":{\([^}]*\)}.*/\1/p' "$1" | tr -d '"' | tr ',:' '\n '
}

# same_classification NAME EXPECTED FOUND: whether two results agree in the class and, within 0.0001, in every
# probability; says so in one line that begins with NAME.
same_classification() {
  local name=$1 expected found
  expected=$(probabilities_of "$2")
  found=$(probabilities_of "$3")
  paste -d ' ' <(echo "$expected") <(echo "$found") | awk -v name="$name" '
    NR == 1 {
      class = $1
      if ($1 == "" || $1 != $2) { printf "%s: class %s, expected %s\n", name, $2, $1; bad = 1; exit }
      next
    }
    {
      difference = $2 - $4
      if (difference < 0) difference = -difference
      if ($1 != $3 || difference > 0.0001) {
        printf "%s: probability of %s is %s, expected %s of %s\n", name, $3, $4, $2, $1
        bad = 1
        exit
      }
      if (difference > greatest) greatest = difference
    }
    END {
      if (!bad && NR < 3) { printf "%s: %d classes found, expected 2 or more\n", name, NR - 1; bad = 1 }
      if (!bad) printf "%s: same class (%s); probabilities differ by at most %.2g\n", name, class, greatest
      exit bad
    }'
}
