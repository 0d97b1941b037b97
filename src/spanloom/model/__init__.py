"""What every trained model is made of: structure, features and weights, their training, scores and explanations."""
