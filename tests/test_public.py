"""The public surface is this list: a name that comes or goes shows here, and in the CHANGELOG."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil

import pytest

import spanloom

PUBLIC = {
    "spanloom": (
        "DataWarning Document Linker Mention Recognizer Section Segmenter Span SpanloomError __version__ load read "
        "write"
    ),
    "spanloom.__main__": "",
    "spanloom.annotate": "Agreement agreement import_documents",
    "spanloom.attributes": (
        "ATTRIBUTES AttributeModel Cues NONE attributing fit_attributes language_of mark read_cues with_sections"
    ),
    "spanloom.clean": (
        "JudgedDocument Suspect find_suspects judge not_judged recognizer_of suspects_of suspects_page with_suspects"
    ),
    "spanloom.cli": "main",
    "spanloom.concepts": "",
    "spanloom.data": "chinese_clinical clinical",
    "spanloom.document": (
        "Alignment Batch Document Mention Offsets Section Span TokenRange align batches from_tags to_bilou to_bio "
        "to_spans"
    ),
    "spanloom.errors": (
        "DataError DataWarning LostWarning ModelError NotFittedError SpanloomError UsageError as_json "
        "check_number clip closest log_line meant not_fitted notice_line one_line plural reason_of "
        "warnings_as_lines"
    ),
    "spanloom.evaluate": (
        "AttributeReport AttributeScores Bin Breakdown Calibration ConceptReport ConceptTest ERROR_KINDS Finding "
        "Interval Intervals KEYS Key Overlaps "
        "PairedTest Point Report Score TagReport boundaries boundary_kind breakdown calibration compared_kinds "
        "concept_test evaluate evaluate_attributes evaluate_concepts evaluate_tags exact f1_macro f1_micro findings "
        "heads join_spans overlaps paired_test precision_recall score"
    ),
    "spanloom.extras": "EntryPoint entry_points extra",
    "spanloom.features": (
        "Built Dense FeatureIndex FeatureSet FeatureTemplate Keys PRESETS Resources Sparse WordVectors "
        "available_columns build_index category_phrases index_batch name_rows parse parse_all"
    ),
    "spanloom.files": "STDIO",
    "spanloom.formats": (
        "FORMATS Format Losses OnError from_answers from_columns from_record read to_columns to_record validate write"
    ),
    "spanloom.hashing": (
        "RangeHashes RangeTable Slots code_points hash_text hash_values hashes intern mix mixed numbered"
    ),
    "spanloom.hypergraph": (
        "Best Child DerivationEngine ENGINES Edges Engine Expectations Floats Hyperedge Ints Mask Paths Potentials "
        "Ranking Role Singles SubgraphEngine Template"
    ),
    "spanloom.integrations": "",
    "spanloom.label": "LabelReport LabelRule LabelRules RuleCounts label label_stream read_label_rules",
    "spanloom.lake": "Annotator",
    "spanloom.lazy": "attached lazily",
    "spanloom.learn": (
        "AllowedTarget Chosen CorpusTarget CountTarget DensityTarget EarlyStopping EdgeTarget Epoch Fit Iteration "
        "Judge Listener Objective Progress Residual SoftCounts Target TargetCounts Training TrainingHistory "
        "TrainingSet adagrad adagrad_together check_weights fit_together minimize search_step"
    ),
    "spanloom.link": "LinkReport Linker PAPER_FEATURES Pipeline load",
    "spanloom.model": "",
    "spanloom.modelfile": (
        "Array Bounded COMPACT Described FORMAT LARGEST ModelPart OtherModelError Within checked damaged load read "
        "read_digest read_kind save write"
    ),
    "spanloom.models": "Installed KINDS Model Saved class_of explain installed load locate",
    "spanloom.native": "Kernel keep_memory library",
    "spanloom.parallel": (
        "Executor Processes SERIAL Serial Threads even_ranges grouped threads whole_ranges worker_count"
    ),
    "spanloom.passes": (
        "COLUMNS DocumentPass PassData PassSettings TEMPLATES choose_passes fit_pass is_worth_two_passes"
    ),
    "spanloom.recognize": ("Constraints Lost Progress Recognizer Reliance TrainingReport compact load teach to_onnx"),
    "spanloom.rescoring": (
        "CandidateMentions FirstStage Proposer Rescorer RescoringDevelopment ScoredCandidates WORDS calibrate_second "
        "fit_rescorer propose"
    ),
    "spanloom.scoring": (
        "LinearScorer Named Part Scorer Transposed Weights dense_gradient role_gradient role_scores transpose"
    ),
    "spanloom.segment": (
        "ChainReport Constraint METHODS Oracle OracleAnswer Probabilities SETS Segmenter SegmenterReport Solution "
        "WHOLE_WORDS load_segmenter solve"
    ),
    "spanloom.serve": "Limits Served bind is_loopback open_models serve url",
    "spanloom.sparse": (
        "SparseMatrix ascending changes distinct distinct_numbers found_in gathered largest_matching places_of "
        "row_offsets"
    ),
    "spanloom.structure_names": "",
    "spanloom.structures": (
        "Bilou Bio Crowd Encoded FlatChain Heads MOST_MENTIONS MentionHypergraph MentionTable Product READINGS "
        "STRUCTURES SemiMarkov SeparatorStates Separators SevenTag Shared Split Structure Tags TokenMention "
        "Words chain_template structure_of"
    ),
    "spanloom.tag": "",
    "spanloom.text": (
        "NOTES Phrases Rules SECTIONS note_type prepare prepare_all read_rules section_names sentence_words "
        "split_sentences tokenize"
    ),
    "spanloom.view": "MIN_WIDTH render to_html to_svg",
    "spanloom.vocabulary": (
        "Concept Note VOCABULARY_FORMATS Vocabulary normalize_identifier read_concepts read_vocabulary"
    ),
}

# of classes; `check_stored`, `ready`, `to_part` and `from_part` are for the package, and the API page leaves them out;
# so it does those that are deprecated: `tagger_`, `chains_` and `system_`
METHODS = {
    "Document": "columns copy id mentions meta sections sentence_count sentences text token_count tokens words",
    "Mention": (
        "attribute_scores attributes concept_scores concepts end head id key replace score spans start text type"
    ),
    "Recognizer": (
        "alternatives annotates capable check check_stored describe document_scaling entropy expected_f1 explain "
        "featured fit fitted from_part get_params holds kind learning log_likelihood marginals overlaps_ pass_ "
        "plausible pos_ predict profile_ ready resolver sample save score second_ set_params splitter_ stages_ "
        "stream stream_arrays structure_ structured summary sweep tagger_ to_part with_penalty"
    ),
    "Linker": (
        "alternatives annotates capable check check_stored describe document_scaling explain fit fitted from_part "
        "get_params kind learning plausible predict profile_ resolver save score set_params splitter_ stages_ "
        "stream stream_arrays structured summary sweep system_ to_part vocabulary with_penalty"
    ),
    "Segmenter": (
        "alternatives annotates capable check check_stored describe document_scaling explain featured fit fitted "
        "from_part get_params kind learning marginals pass_ plausible predict profile_ resolver save score second_ "
        "set_params stages_ stream stream_arrays structured summary sweep to_part with_penalty"
    ),
}


def public(name: str) -> list[str]:
    """What a module exports: its ``__all__``, or what it defines itself; a package also constants and ``x as x``."""
    module = importlib.import_module(name)
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    found = {key for key, value in vars(module).items() if getattr(value, "__module__", None) == name}
    for node in ast.walk(ast.parse(inspect.getsource(module))) if hasattr(module, "__path__") else ():
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, ast.Module):
            targets = [
                target
                for one in node.body
                if isinstance(one, ast.Assign | ast.AnnAssign)
                for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
            ]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return sorted(key for key in found if not key.startswith("_"))


def test_every_folder_is_listed() -> None:
    assert list(PUBLIC) == ["spanloom", *(m.name for m in pkgutil.iter_modules(spanloom.__path__, "spanloom."))]


@pytest.mark.parametrize("name", PUBLIC)
def test_names(name: str) -> None:
    assert public(name) == PUBLIC[name].split()
    assert all(hasattr(importlib.import_module(name), key) for key in public(name))


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    kind = getattr(spanloom, name)
    parameters = kind().get_params() if hasattr(kind, "get_params") else ()
    assert sorted({key for key in dir(kind) if not key.startswith("_")} - {*parameters}) == METHODS[name].split()


@pytest.mark.parametrize("name", [name for name in spanloom.__all__ if name != "__version__"])
def test_examples_import_what_they_use(name: str) -> None:
    for example in doctest.DocTestFinder().find(getattr(spanloom, name), name, module=False, globs={}):  # type: ignore[arg-type]
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
        assert not result.failed, example.name


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = spanloom.nothing
