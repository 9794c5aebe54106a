"""What a Function may declare and be given: its signature, the containers of its arguments, what they hold."""
