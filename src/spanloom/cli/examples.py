"""Examples at the end of each help; a test has the command line read all of them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

EXAMPLES: Final = MappingProxyType(
    {
        "": """\
spanloom demo
echo "NF-kappa B activates the IL-2 promoter in T cells" | spanloom predict genia -
spanloom train recognizer --train notes/train --dev notes/dev --output model""",
        "annotate": """\
spanloom annotate notes --output notes.store --model genia
spanloom annotate notes --output notes.store --learn learned
spanloom annotate notes.store --export annotated.jsonl
spanloom annotate notes.store --history history.csv
spanloom annotate notes.store --agreement""",
        "clean": """\
spanloom clean notes --limit 20
spanloom clean notes.jsonl --html suspects.html""",
        "compact": """\
spanloom compact model --output small --dev notes/dev""",
        "completion": """\
spanloom completion bash > ~/.local/share/bash-completion/completions/spanloom
spanloom completion zsh > ~/.zfunc/_spanloom
spanloom completion fish > ~/.config/fish/completions/spanloom.fish""",
        "convert": """\
spanloom convert notes notes.jsonl
spanloom convert notes notes.conll --scheme bilou
spanloom convert notes.jsonl marked.jsonl --from-llm answers.jsonl""",
        "demo": """\
spanloom demo --output demo
spanloom demo --linker""",
        "evaluate": """\
spanloom evaluate gold.jsonl predicted.jsonl --html errors.html
spanloom evaluate notes/test --model model""",
        "explain": """\
spanloom explain model --text "No chest pain."
spanloom explain model note.txt --mention 3-13:problem""",
        "export": """\
spanloom export model --onnx --output without-torch --precision int8""",
        "inspect": """\
spanloom inspect model --top 5
spanloom inspect model --json""",
        "label": """\
spanloom label rules.toml notes.txt --output labels.jsonl
spanloom label rules.toml notes --each --output votes.jsonl""",
        "models": """\
spanloom models
spanloom models --json""",
        "next": """\
spanloom next notes --model model -n 50 --output next.jsonl
spanloom next notes.store --model model --order entropy -n 10""",
        "predict": """\
echo "No chest pain." | spanloom predict model - --attributes negated
spanloom predict model notes.txt --output notes.jsonl --threshold 0.5
spanloom predict model lake --output annotated/ --columns text=note,id=key""",
        "serve": """\
spanloom serve genia bc5cdr
spanloom serve notes=model --host 0.0.0.0 --allow-host notes.example.org""",
        "split": """\
spanloom split notes --output parts --parts train=8,dev=1,test=1 --seed 1
spanloom split notes.jsonl --output parts --by patient""",
        "teach": """\
spanloom teach teacher raw.txt --train notes/train --dev notes/dev --output fast""",
        "train": """\
spanloom train recognizer --train notes/train --dev notes/dev --output model
spanloom train linker --train notes/train --vocabulary names.tsv --output linker""",
        "train clusters": """\
spanloom train clusters --input raw.txt --size 500 --output paths""",
        "train linker": """\
spanloom train linker --train notes/train --vocabulary names.tsv --output linker""",
        "train recognizer": """\
spanloom train recognizer --train notes/train --dev notes/dev --output model
spanloom train recognizer --train notes --structure "shared(components=2)" \\
    --features fast --l2 1 --output model""",
        "train segmenter": """\
spanloom train segmenter --train train.jsonl --dev dev.jsonl --output model""",
        "train tagger": """\
spanloom train tagger --train train.conllu --column pos --output tagger""",
        "validate": """\
spanloom validate notes
spanloom validate notes.conll --columns word,pos,tag --json""",
        "view": """\
spanloom view notes.jsonl --limit 1
spanloom view notes.jsonl --output notes.html""",
        "vocabulary": """\
spanloom vocabulary names.tsv --output index
spanloom vocabulary UMLS/META --language ENG --source MSH --output index""",
        "warm": """\
spanloom warm""",
    }
)
"""Verb -> lines that are run unchanged; the program itself is the empty verb."""
