package application

// MaxContexts is the bound of the cache of run contexts.
const MaxContexts = maxContexts

// Contexts returns how many run contexts are cached.
func (s *Service) Contexts() int {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	return len(s.runs.contexts)
}
