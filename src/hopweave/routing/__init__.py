"""Understanding the question: intent, gate, plan."""
