"""Parts of every trained model: structure, features and weights, their training, scores and explanations."""
