"""Complete analytic expressions: outputs as polynomials in sines, cosines and symbols, in any basis of angles."""
