package promguard

// Verifies translates the query and returns what the self-check says of the text as its print.
func (g *Guard) Verifies(query, text string) error {
	root, _, err := g.read(query)
	if err != nil {
		return err
	}
	return g.verify(root, text)
}
