from spanloom.scoring.onnx.export import exported as exported
from spanloom.scoring.onnx.scorer import OnnxScorer as OnnxScorer
from spanloom.scoring.onnx.scorer import OnnxSettings as OnnxSettings
