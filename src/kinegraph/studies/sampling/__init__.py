"""The numbers of every case: laws, designs, samples."""
