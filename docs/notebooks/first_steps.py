"""Train on a table of texts, say how good it is, and write the mentions of new texts as a table."""

import joblib
import pandas as pd

from spanloom import Document, Mention, Recognizer
from spanloom.evaluate import evaluate

TRAIN = pd.DataFrame(
    [
        ("No chest pain today.", [("problem", 3, 13)]),
        ("He reports mild chest pain.", [("problem", 11, 26)]),
        ("Denies chest pain and fever.", [("problem", 7, 17), ("problem", 22, 27)]),
        ("Fever since Monday.", [("problem", 0, 5)]),
        ("The patient is well.", []),
    ]
    * 6,
    columns=["text", "mentions"],
)
NEW = pd.Series(["She denies chest pain and fever.", "No chest pain today, but fever."], index=["a", "b"])


def main() -> None:
    """Train, evaluate, predict and save."""
    model = Recognizer(features="small", rate=0.3).fit(TRAIN["text"], TRAIN["mentions"])

    gold = Document("He reports mild chest pain and fever.", mentions=[Mention("problem", [(11, 26)])])
    report = evaluate([gold], [model.predict(gold.text)], bootstrap=0)
    print(f"exact {report.overall.f1:.2f}")

    rows = [
        (name, mention.type, mention.start, mention.end, mention.text(document.text), mention.score)
        for name, document in zip(NEW.index, model.predict(NEW), strict=True)
        for mention in document.mentions
    ]
    table = pd.DataFrame(rows, columns=["id", "type", "start", "end", "text", "probability"])
    table.to_csv("mentions.csv", index=False)
    print(table.to_string(index=False))

    model.save("model")
    joblib.dump(model, "model.joblib")
    assert joblib.load("model.joblib").predict(gold.text) == model.predict(gold.text)


if __name__ == "__main__":
    main()
