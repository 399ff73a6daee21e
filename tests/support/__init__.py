"""What tests share: the local control plane, the fault proxy, builders."""
