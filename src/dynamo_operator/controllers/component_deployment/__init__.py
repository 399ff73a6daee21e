"""The controller of DynamoComponentDeployment."""
